import type { Browser } from 'playwright-core'
import { afterAll } from 'vitest'
import { isBrowserInstalled, startBrowser } from './browser.ts'
import { type Service, startServiceForFile } from './service.ts'

type Started = { service: Service; browser: Browser; origin: string }

/**
 * Starts a listening service and a browser for the tests of a file. Starts nothing if no browser is installed, because the tests are skipped
 * then.
 */
export async function startBrowserForFile(): Promise<Started> {
  if (!isBrowserInstalled) return {} as Started
  const service = await startServiceForFile()
  const browser = await startBrowser()
  afterAll(() => browser.close())
  return { service, browser, origin: await service.app.listen({ port: 0, host: '127.0.0.1' }) }
}
