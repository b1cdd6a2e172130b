package closedset

// A published table is numbers of a paper, in percent.
type published struct {
	note    string
	classes []int
	rows    []publishedRow
}

type publishedRow struct {
	name string
	// accuracy by the table's classes; 0 where the paper has none.
	accuracy []float64
}

// publishedTables are those that can stand beside ours.
func publishedTables() map[string]published {
	return map[string]published{
		"achituve_table1": {
			note:    "Rows of the paper: Achituve et al. 2021, Table 1; CUB-200, features of Xian et al. 2018 (ResNet-101), means of 10 runs. Other images, other features: compare the order, not the numbers.",
			classes: []int{4, 6, 8, 10, 20, 30, 40, 50, 60},
			rows: []publishedRow{
				{"GP-Tree", []float64{97.93, 97.15, 94.67, 93.57, 88.77, 83.87, 75.66, 72.87, 69.92}},
				{"LSM", []float64{97.30, 96.95, 95.16, 93.09, 89.23, 84.44, 72.90, 69.82, 65.53}},
				{"OVE", []float64{97.33, 96.60, 94.70, 93.05, 0, 0, 0, 0, 0}},
				{"SBM-GP", []float64{96.98, 95.55, 92.11, 91.04, 83.59, 77.63, 67.03, 64.20, 60.69}},
				{"GP-Tree Rnd", []float64{97.80, 95.96, 93.49, 92.07, 85.32, 77.45, 68.97, 62.77, 58.49}},
			},
		},
	}
}
