import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { it, onTestFinished } from 'vitest'
import { desktop, isBrowserInstalled, phone, startBrowser } from '../support/browser.ts'
import { openGallery } from '../support/pages/all-pages.ts'

/** Folder for the pictures. None are taken if it is unset. */
const FOLDER = process.env.CONTACT_SHEET
/** Comma-separated beginnings of the names of the pages to take. All pages are taken if it is unset. */
const ONLY = process.env.PAGES ?? ''

/** Largest height that browsers draw, in pixels. */
const MAX_HEIGHT = 4_000

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [desktop, phone].map((viewport) => ({ colorScheme, viewport, name: `${colorScheme}-${viewport.width}` })),
)

/** HTML table of all pictures, with a row for each page. */
const sheetOf = (names: string[]): string =>
  `<!doctype html><meta charset="utf-8"><title>Contact sheet</title><table>${names
    .map(
      (name) =>
        `<tr><th>${name}${LOOKS.map((look) => `<td><img src="${name}-${look.name}.png" height="420" loading="lazy">`).join('')}`,
    )
    .join('')}</table>`

it.skipIf(!FOLDER || !isBrowserInstalled)('takes a picture of every page in both sizes and both schemes', async () => {
  const { service, pages, openAs } = await openGallery()
  onTestFinished(() => service.close())
  await mkdir(FOLDER!, { recursive: true })
  const browser = await startBrowser('--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream')
  onTestFinished(() => browser.close())
  const wanted = pages.filter(({ name }) => ONLY.split(',').some((part) => name.startsWith(part)))
  for (const [viewer, shown] of Map.groupBy(wanted, (page) => page.viewer)) {
    for (const { name: look, ...options } of LOOKS) {
      const context = await openAs(browser, viewer, options)
      const page = await context.newPage()
      await page.goto(shown[0]!.address) // loads the font, which may arrive too late the first time
      for (const { name, address } of shown) {
        await page.goto(address)
        const height = Math.min(MAX_HEIGHT, (await page.evaluate('document.documentElement.scrollHeight')) as number)
        const clip = { x: 0, y: 0, width: options.viewport.width, height }
        await page.screenshot({ path: path.join(FOLDER!, `${name}-${look}.png`), fullPage: true, clip })
      }
      await context.close()
    }
  }
  await writeFile(path.join(FOLDER!, 'index.html'), sheetOf(wanted.map(({ name }) => name)))
})
