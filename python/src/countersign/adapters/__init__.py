"""A person before the tools of an agent, in the words of its framework: a module for each.

Import the one of your framework, such as `countersign.adapters.langgraph`. Nothing here imports a framework by itself.
"""
