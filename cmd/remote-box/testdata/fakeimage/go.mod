module github.com/remote-box/remote/fakeimage

go 1.26.0

require github.com/remote-box/remote v0.0.0

require github.com/moby/patternmatcher v0.6.1 // indirect

replace github.com/remote-box/remote => ../../../..
