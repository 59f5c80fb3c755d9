"""
An empty torchvision. AllenNLP imports it at its start and uses it on images alone; PyPI's cannot be imported beside a
CPU build of torch ("operator torchvision::nms does not exist").
"""
