#!/bin/sh
echo tool ran as $(id -un)
