import { afterAll } from 'vitest'
import { endWithFile } from './endings.ts'

// A setup file, so run for every test file: what they share is evaluated only once a worker.
afterAll(endWithFile)
