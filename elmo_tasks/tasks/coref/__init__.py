"""Coreference (paper, appendix A.6; Lee et al., 2017): documents -> spans -> antecedents -> clusters."""
