"""What the articles about Deeplearning4j's source name, with Python that runs it; see tests/articles.py."""
