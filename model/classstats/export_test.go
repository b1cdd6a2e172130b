package classstats

var Decode = decode

// Format is the format of a STATS file.
var Format = format
