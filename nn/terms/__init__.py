"""What configurations of layers are made of: input types, parameters, initialisation, dropout, noise, preprocessors."""
