import { type Html, html } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { type Asset, loadChunks, loadScript, loadSharedAssets } from '../../../http/pages/assets.ts'
import { shippedLanguages } from '../../../locales/languages.ts'

export const look = loadSharedAssets(INVITATION_PATH)

const CLOCK = 'clock'
/** The script of each language, and what they load; and the one of pages without a session. */
const scripts = Object.fromEntries(
  [...shippedLanguages.codes, CLOCK].map((name) => [name, loadScript(INVITATION_PATH, `candidate.${name}`)]),
)
const parts: Record<string, Asset> = Object.assign(
  {},
  ...Object.values(scripts).map((script) => loadChunks(INVITATION_PATH, script)),
)

/** All that is served. */
export const assets: Record<string, Asset> = { ...look, ...scripts, ...parts }

/** The script of a language, and with it what each of them needs; or that which knows the reader's clock, and needs nothing. */
export const scriptOf = (name: string): Html =>
  html`${name !== CLOCK && preload('chunk')}<script type="module" src="${scripts[name]?.address}"></script>`

/** Preloads a part of the script together with the page. @param part the beginning of its file's name. */
export const preload = (part: string): Html[] =>
  Object.entries(parts)
    .filter(([file]) => file.startsWith(`${part}.`))
    .map(([, { address }]) => html`<link rel="modulepreload" href="${address}">`)
