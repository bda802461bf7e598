module proofvectors

go 1.22
