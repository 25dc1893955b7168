"""Argo Workflows: documents as manifests, and manifests as documents (ALAS appendix A.4). Pure."""
