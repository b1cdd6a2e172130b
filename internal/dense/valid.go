package dense

import "fmt"

// Check returns an error unless the rows, columns, stride and number of values of a matrix are
// consistent.
func Check(rows, cols, stride, values int) error {
	switch {
	case rows < 0 || cols < 0:
		return fmt.Errorf("matrix of %d×%d", rows, cols)
	case rows == 0 || cols == 0:
		return nil
	case stride < cols:
		return fmt.Errorf("matrix of %d×%d: stride %d is less than the columns", rows, cols, stride)
	case (values-cols)/stride < rows-1 || values < cols:
		return fmt.Errorf("matrix of %d×%d, stride %d: only %d values", rows, cols, stride, values)
	}
	return nil
}
