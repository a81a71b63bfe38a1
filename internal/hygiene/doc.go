// Package hygiene holds the tests of rules that concern the module as a whole: which packages may
// import which, what runners link, that documents say what the code does.
package hygiene
