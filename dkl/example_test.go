package dkl_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Phase 1: the projection learns under a softmax until it tells the inside of
// a ring from the ring, which no linear head can.
func Example() {
	rng := rand.New(rand.NewPCG(1, 1))
	e := dkl.Examples{X: blas32.General{Rows: 60, Cols: 4, Stride: 4}}
	for i := range 60 {
		for j := range 4 {
			x := 0.3 * rng.NormFloat64()
			if j == i%3 {
				x++
			}
			e.X.Data = append(e.X.Data, float32(x))
		}
		e.Y = append(e.Y, []string{"cat", "dog", "owl"}[i%3])
	}
	cfg := dkl.DefaultTraining()
	cfg.Epochs, cfg.Pretrain, cfg.Batch, cfg.Validation = 4, 2, 16, 0.2
	t, err := dkl.NewTrainer(cfg, gptree.DefaultConfig(), e, linalg.Backend{})
	for err == nil && !t.Done() {
		var epoch dkl.Epoch
		epoch, err = t.Epoch(context.Background())
		fmt.Println(epoch.Epoch, epoch.Phase)
	}
	p := t.Trained()
	fmt.Println(p.Projection.In(), p.Projection.Dim(), p.Start.Classes, err)
	// Output:
	// 1 cross-entropy
	// 2 cross-entropy
	// 3 tree
	// 4 tree
	// 4 4 [cat dog owl] <nil>
}

func ExampleProjection() {
	x := blas64.General{Rows: 8, Cols: 2, Stride: 2, Data: []float64{
		2, 0, 0, 2, -2, 0, 0, -2,
		0.3, 0.3, -0.3, 0.3, 0.3, -0.3, -0.3, -0.3,
	}}
	y := []int{0, 0, 0, 0, 1, 1, 1, 1}
	head, err := dkl.New(2, dkl.Config{Dim: 3, Hidden: 16, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	softmax, _ := dkl.NewSoftmax(head.Dim(), 2)
	cfg := dkl.SGDConfig{Rate: 0.1, Momentum: 0.9}
	sgdHead, _ := dkl.NewSGD(cfg, len(head.Theta()))
	sgdSoftmax, _ := dkl.NewSGD(cfg, len(softmax.Theta()))

	z := blas64.General{Rows: 8, Cols: 3, Stride: 3, Data: make([]float64, 24)}
	gradZ := blas64.General{Rows: 8, Cols: 3, Stride: 3, Data: make([]float64, 24)}
	gradHead, gradSoftmax := make([]float64, len(head.Theta())), make([]float64, len(softmax.Theta()))
	for epoch := range 101 {
		if err := head.Forward(z, x); err != nil {
			fmt.Println(err)
			return
		}
		loss, err := softmax.Loss(gradSoftmax, gradZ, z, y)
		if err != nil {
			fmt.Println(err)
			return
		}
		if epoch%50 == 0 {
			fmt.Printf("epoch %3d  loss %.2f nats\n", epoch, loss)
		}
		// the zero matrix: the backbone is frozen, nobody needs ∂L/∂x
		_ = head.Backward(gradHead, blas64.General{}, x, gradZ)
		_ = sgdHead.Step(head.Theta(), gradHead, epoch)
		_ = sgdSoftmax.Step(softmax.Theta(), gradSoftmax, epoch)
	}
	// Output:
	// epoch   0  loss 0.69 nats
	// epoch  50  loss 0.00 nats
	// epoch 100  loss 0.00 nats
}

// A base session of three classes: two phases, then a projection for whichever
// head.
