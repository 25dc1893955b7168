"""Routes: what the app answers over HTTP, beside the page that Gradio makes."""
