"""Pictures of networks: what is drawn, where it lies, and texts in SVG and Graphviz's language."""
