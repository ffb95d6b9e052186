import { type Html, html } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { loadAssets } from '../../../http/pages/assets.ts'

export const assets = loadAssets(INVITATION_PATH, 'candidate')

/** Has a part of the script come along with it, not after it. @param part `chunk`: what every page with the script needs. */
export const preload = (part: 'chunk' | 'prepare'): Html[] =>
  Object.entries(assets)
    .filter(([file]) => file.startsWith(`${part}.`))
    .map(([, { address }]) => html`<link rel="modulepreload" href="${address}">`)
