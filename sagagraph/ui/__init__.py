"""The Gradio app and the REST interface beside it: they parse, call and render. Gradio and Plotly are imported nowhere else."""
