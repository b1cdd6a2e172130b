package classstats

var Decode = decode

// Format is that of a STATS file.
var Format = format
