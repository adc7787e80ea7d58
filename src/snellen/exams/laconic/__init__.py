"""How little of a picture is enough? (Carrasco et al. 2020)"""
