#!/bin/bash
suite_compat() { t_skip compat "not yet"; }
