import { hash } from 'node:crypto'
import { type Brand, hasBrand, logoOf } from '../../domain/ports/brand.ts'
import { brandStylesheet, themeOf } from '../../html/brand.ts'
import { type Html, html, type Value } from '../../html/html.ts'
import { brandPath } from '../addresses/links.ts'

/** Pixels. The head of a page shows the largest logo. */
const MAX_LOGO = { width: 128, height: 36 }

/** Stylesheet of an organization and its file name, which contains a hash. @returns null without a brand. */
export function stylesheetOf(brand: Brand): { content: string; file: string } | null {
  if (!hasBrand(brand)) return null
  const content = brandStylesheet(brand)
  return { content, file: `${hash('sha256', content).slice(0, 12)}.css` }
}

/** Loads the brand's stylesheet. It must come after the common one. */
export function brandLink(brand: Brand): Html | false {
  const stylesheet = stylesheetOf(brand)
  return stylesheet !== null && html`<link rel="stylesheet" href="${brandPath(brand.id, stylesheet.file)}">`
}

/** Path of an organization's icon, named after the logo's hash and the color of its plate. @returns null without a logo. */
export const iconPath = (brand: Brand): string | null =>
  brand.logoHash === null ? null : brandPath(brand.id, `${brand.logoHash}.${themeOf(brand, 'light').plate.slice(1)}.svg`)

/** Parses the file name of {@link iconPath}. @returns null for another file. */
export function readIconFile(file: string): { hash: string; plate: string } | null {
  const [, hash, plate] = /^([\da-f]{64})\.([\da-f]{6})\.svg$/.exec(file) ?? []
  return hash && plate ? { hash, plate } : null
}

/** A square SVG that embeds the logo. */
export const drawIcon = (plate: string, logo: { contentType: string; content: Buffer }): string =>
  // No escaping needed: the values are six hexadecimal digits, a known media type, and base64.
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#${plate}"/><image x="2" y="2" width="28" height="28" href="data:${logo.contentType};base64,${logo.content.toString('base64')}"/></svg>`

/** Background class of a page's head. @param fallback class without a brand color. */
export const headBackground = ({ backgroundColor }: Brand, fallback: string): string =>
  backgroundColor === null ? fallback : 'brand-head'

/** Logo or first letter of an organization. It has no alternative text, because the name is next to it. */
export function brandLogo(brand: Brand): Html {
  const logo = logoOf(brand, MAX_LOGO)
  return logo
    ? html`<span class="brand-plate"><img src="${brandPath(brand.id, logo.hash)}" alt="" width="${logo.width}" height="${logo.height}"></span>`
    : html`<span class="grid size-9 shrink-0 place-items-center rounded-field bg-primary font-semibold text-primary-content" aria-hidden="true">${[...brand.name][0]?.toUpperCase()}</span>`
}

/** Head of an organization's page. @param subtitle below the name. @param end at the end of the line. */
export function pageHead(brand: Brand, subtitle: string, end: Value = false): Html {
  const ground = headBackground(brand, '')
  // Next to a logo on a narrow screen the name would be broken in the middle of words.
  const [wraps, basis] = brand.logoHash === null ? ['', ''] : ['flex-wrap', 'basis-40']
  const padding = ground && 'rounded-box px-4 py-3'
  return html`<div class="flex items-center gap-3 ${wraps} ${ground} ${padding}">${brandLogo(brand)}
<p class="min-w-0 flex-1 leading-tight ${basis}"><strong class="font-semibold"><bdi>${brand.name}</bdi></strong><br><span class="quiet text-sm">${subtitle}</span></p>${end}</div>`
}
