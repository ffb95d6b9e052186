import { assetsNamedIn, PICTURE } from '../../domain/assets/references.ts'
import { type Html, html } from '../../html/html.ts'

/** Pixels; 0 if unknown. */
type Size = { width: number; height: number }

/**
 * Pictures that a page can show.
 *
 * @property at address by id. @property sizeOf undefined for an unknown picture. @property tell formats the alternative text that replaces an
 *   unknown picture.
 */
export type Pictures = { at: (id: string) => string; sizeOf: (id: string) => Size | undefined; tell?: (alt: string) => string }

export const noPictures: Pictures = { at: () => '', sizeOf: () => undefined }

/** For documents outside of the service: each picture is replaced by its alternative text in brackets. */
export const namedPictures = { ...noPictures, tell: (alt: string) => (alt === '' ? '' : `[${alt}]`) } satisfies Pictures

/** All pictures below an address. The browser shows the alternative text of missing ones. */
export const picturesBelow = (address: string): Pictures => ({
  at: (id) => `${address}/${id}`,
  sizeOf: () => ({ width: 0, height: 0 }),
})

/** Pictures of known sizes, which avoid layout shifts while they load. */
export const picturesOf = (address: string, sizes: ReadonlyMap<string, Size>): Pictures => ({
  at: (id) => `${address}/${id}`,
  sizeOf: (id) => sizes.get(id),
})

/** An <img>, or the alternative text of an unknown picture. @param source `asset:` and an id. */
export function picture(pictures: Pictures, source: string, alt: string): Html {
  const [id] = assetsNamedIn(source)
  const size = id === undefined ? undefined : pictures.sizeOf(id)
  if (id === undefined || !size) return html`${pictures.tell?.(alt) ?? alt}`
  if (size.width === 0) return html`<img class="rounded-box inline-block max-w-full" src="${pictures.at(id)}" alt="${alt}">`
  return html`<img class="rounded-box inline-block h-auto max-w-full" src="${pictures.at(id)}" alt="${alt}" width="${size.width}" height="${size.height}">`
}

/** Plain text with its pictures. */
export function withPictures(text: string, pictures: Pictures): Html {
  const parts: Html[] = []
  let at = 0
  for (const { index, 0: whole, 1: alt = '', 2: id = '' } of text.matchAll(PICTURE)) {
    parts.push(html`${text.slice(at, index)}`, picture(pictures, `asset:${id}`, alt))
    at = index + whole.length
  }
  return html`${parts}${text.slice(at)}`
}
