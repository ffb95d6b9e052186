import { afterAll } from 'vitest'
import { endWithFile } from './endings.ts'
import { expectNoLoggedSecrets } from './logged-secrets.ts'

// This setup file runs for every test file. Modules that it imports are evaluated only once per worker.
afterAll(async () => {
  await endWithFile()
  expectNoLoggedSecrets()
})
