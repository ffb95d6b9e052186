import { hash } from 'node:crypto'
import { type Brand, hasBrand, logoOf } from '../../domain/ports/brand.ts'
import { brandStylesheet, themeOf } from '../../html/brand.ts'
import { type Html, html, type Value } from '../../html/html.ts'
import { brandPath } from '../addresses/links.ts'

/** Pixels of a logo in the head of a page, where it is shown the largest. */
const MOST_LOGO = { width: 128, height: 36 }

/** An organization's stylesheet, by whose hash it is asked for; null: it looks as the service does. */
export function stylesheetOf(brand: Brand): { content: string; file: string } | null {
  if (!hasBrand(brand)) return null
  const content = brandStylesheet(brand)
  return { content, file: `${hash('sha256', content).slice(0, 12)}.css` }
}

/** What a page loads behind the stylesheet of all pages. */
export function brandLink(brand: Brand): Html | false {
  const stylesheet = stylesheetOf(brand)
  return stylesheet !== null && html`<link rel="stylesheet" href="${brandPath(brand.id, stylesheet.file)}">`
}

/** Where the icon of an organization's pages is, by what it is made of: its logo, and the plate that a logo stands on; null: it has no logo. */
export const iconPath = (brand: Brand): string | null =>
  brand.logoHash === null ? null : brandPath(brand.id, `${brand.logoHash}.${themeOf(brand, 'light').plate.slice(1)}.svg`)

/** What such a file is made of; null: it is no icon. */
export function readIconFile(file: string): { hash: string; plate: string } | null {
  const [, hash, plate] = /^([\da-f]{64})\.([\da-f]{6})\.svg$/.exec(file) ?? []
  return hash && plate ? { hash, plate } : null
}

/** A square with the whole logo in it, as browsers want icons; the picture is in the file, which loads nothing. */
export const drawIcon = (plate: string, logo: { contentType: string; content: Buffer }): string =>
  // Of six hexadecimal digits, a type of ours and base64, none of which pages have to be kept from.
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#${plate}"/><image x="2" y="2" width="28" height="28" href="data:${logo.contentType};base64,${logo.content.toString('base64')}"/></svg>`

/** The ground of a page's head, by its class. @param otherwise of who has none of their own. */
export const headGround = ({ backgroundColor }: Brand, otherwise: string): string =>
  backgroundColor === null ? otherwise : 'brand-head'

/** An organization's logo, or its first letter. Its name stands beside it. */
export function brandMark(brand: Brand): Html {
  const logo = logoOf(brand, MOST_LOGO)
  return logo
    ? html`<span class="brand-plate"><img src="${brandPath(brand.id, logo.hash)}" alt="" width="${logo.width}" height="${logo.height}"></span>`
    : html`<span class="grid size-9 shrink-0 place-items-center rounded-field bg-primary font-semibold text-primary-content" aria-hidden="true">${[...brand.name][0]?.toUpperCase()}</span>`
}

/** Whose page it is, at its top. @param below what stands below the name. @param further what stands at the end of the line. */
export function pageHead(brand: Brand, below: string, further: Value = false): Html {
  const ground = headGround(brand, '')
  // A logo takes so much that the name would be broken anywhere on a narrow screen.
  const [wraps, basis] = brand.logoHash === null ? ['', ''] : ['flex-wrap', 'basis-40']
  const padding = ground && 'rounded-box px-4 py-3'
  return html`<div class="flex items-center gap-3 ${wraps} ${ground} ${padding}">${brandMark(brand)}
<p class="min-w-0 flex-1 leading-tight ${basis}"><strong class="font-semibold"><bdi>${brand.name}</bdi></strong><br><span class="quiet text-sm">${below}</span></p>${further}</div>`
}
