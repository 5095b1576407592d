// Package queue is a work queue for controllers.
package queue
