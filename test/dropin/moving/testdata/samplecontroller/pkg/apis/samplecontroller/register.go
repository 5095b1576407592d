// Package samplecontroller names the group of Foos.
package samplecontroller

// GroupName is the group of Foos.
const GroupName = "samplecontroller.example.com"
