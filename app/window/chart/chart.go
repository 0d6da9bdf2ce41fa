// Package chart draws rates over time and figures as bars, on Fyne's canvas.
package chart
