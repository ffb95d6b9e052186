import { afterAll } from 'vitest'
import { endWithFile } from './endings.ts'
import { refuseLoggedSecrets } from './logged-secrets.ts'

// A setup file, so run for every test file: what they share is evaluated only once a worker.
afterAll(async () => {
  await endWithFile()
  refuseLoggedSecrets()
})
