import { type Html, html } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { type Asset, loadChunks, loadScript, loadSharedAssets } from '../../../http/pages/assets.ts'
import { shippedLanguages } from '../../../locales/languages.ts'

export const look = loadSharedAssets(INVITATION_PATH)

/** Scripts of pages without a session. They import nothing. */
const SIMPLE = ['clock', 'open']
/** Worker that solves the proof of work of an open link's form. */
export const solver = loadScript(INVITATION_PATH, 'candidate.solver')
/** Scripts of each language with their imports, and scripts of pages without a session. */
const scripts = Object.fromEntries(
  [...shippedLanguages.codes, ...SIMPLE].map((name) => [name, loadScript(INVITATION_PATH, `candidate.${name}`)]),
)
const parts: Record<string, Asset> = Object.assign(
  {},
  ...Object.values(scripts).map((script) => loadChunks(INVITATION_PATH, script)),
)

/** All served files. */
export const assets: Record<string, Asset> = { ...look, ...scripts, ...parts, solver }

export const scriptOf = (name: string): Html =>
  html`${!SIMPLE.includes(name) && preload('chunk')}<script type="module" src="${scripts[name]?.address}"></script>`

/** Preloads a chunk of the script with the page. @param part beginning of the file's name. */
export const preload = (part: string): Html[] =>
  Object.entries(parts)
    .filter(([file]) => file.startsWith(`${part}.`))
    .map(([, { address }]) => html`<link rel="modulepreload" href="${address}">`)
