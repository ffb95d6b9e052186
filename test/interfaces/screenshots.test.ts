import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { it, onTestFinished } from 'vitest'
import { desktop, isBrowserInstalled, phone, startBrowser } from '../support/browser.ts'
import { openGallery } from '../support/pages/all-pages.ts'

/** Folder for the pictures of README.md and docs/tour.md. None are taken if it is unset. */
const FOLDER = process.env.SCREENSHOTS

/** Pages of the contact sheet that the documents show, as they fit a window, not in full length. */
const PICTURES: [page: string, look?: { colorScheme?: 'dark'; viewport?: typeof phone; suffix: string }][] = [
  ['home'],
  ['assessment'],
  ['new-invite'],
  ['invites'],
  ['invitation', { viewport: phone, suffix: '-phone' }],
  ['text-question'],
  ['sheet'],
  ['result'],
  ['integrations', { colorScheme: 'dark', suffix: '-dark' }],
  ['docs-invites', { colorScheme: 'dark', suffix: '-dark' }],
]

it.skipIf(!FOLDER || !isBrowserInstalled)('takes the pictures for the documents', async () => {
  const { service, pages, openAs } = await openGallery()
  onTestFinished(() => service.close())
  await mkdir(FOLDER!, { recursive: true })
  const browser = await startBrowser()
  onTestFinished(() => browser.close())
  for (const [name, { suffix, ...look } = { suffix: '' }] of PICTURES) {
    const { viewer, address } = pages.find((page) => page.name === name)!
    const context = await openAs(browser, viewer, { viewport: desktop, colorScheme: 'light', ...look })
    const page = await context.newPage()
    await page.goto(address)
    await page.reload() // loads the font, which may arrive too late the first time
    await page.screenshot({ path: path.join(FOLDER!, `${name}${suffix}.png`) })
    await context.close()
  }
})
