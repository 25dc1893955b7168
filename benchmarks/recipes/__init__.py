"""Recipe2Plan: its pairs planned and judged by its own evaluator, beside the figures of its paper."""
