"""The app: a Gradio interface and a REST interface, which parse, call and render. Nothing else imports Gradio."""
