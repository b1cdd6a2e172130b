// Package account answers what everybody asks who looks at photos that a model knows: how many there are of what,
// who said so, how many labels are right, and what to do next. An [Account] is the one value that page, commands,
// reports and the API print; nothing else counts.
//
// What is counted adds up to the photos that were found. What is expected of labels comes from models that have not
// learned the photos, and knows that some may show what nobody has named. What is measured comes from photos that
// were drawn at random and then decided one by one, never from photos that a model has learned or proposed.
package account
