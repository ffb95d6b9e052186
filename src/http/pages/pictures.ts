import { assetsNamedIn, PICTURE } from '../../domain/assets/references.ts'
import { type Html, html } from '../../html/html.ts'

/** Sides in pixels; 0: not known. */
type Size = { width: number; height: number }

/**
 * The pictures that a page can show.
 *
 * @property at the address of one. @property sizeOf undefined: there is no such picture. @property tell what stands for one that there is not, by its
 *   alternative text; without it that text.
 */
export type Pictures = { at: (id: string) => string; sizeOf: (id: string) => Size | undefined; tell?: (alt: string) => string }

export const noPictures: Pictures = { at: () => '', sizeOf: () => undefined }

/** For what is read away from the service: each is named. */
export const namedPictures = { ...noPictures, tell: (alt: string) => (alt === '' ? '' : `[${alt}]`) } satisfies Pictures

/** All that a text may name, below an address: what there is not is told by its alternative text. */
export const picturesBelow = (address: string): Pictures => ({
  at: (id) => `${address}/${id}`,
  sizeOf: () => ({ width: 0, height: 0 }),
})

/** Those of known sizes, so that a page does not move when they come. */
export const picturesOf = (address: string, sizes: ReadonlyMap<string, Size>): Pictures => ({
  at: (id) => `${address}/${id}`,
  sizeOf: (id) => sizes.get(id),
})

/** A picture, or its alternative text where there is none. @param source as a text names it: `asset:` and an id. */
export function picture(pictures: Pictures, source: string, alt: string): Html {
  const [id] = assetsNamedIn(source)
  const size = id === undefined ? undefined : pictures.sizeOf(id)
  if (id === undefined || !size) return html`${pictures.tell?.(alt) ?? alt}`
  if (size.width === 0) return html`<img class="rounded-box inline-block max-w-full" src="${pictures.at(id)}" alt="${alt}">`
  return html`<img class="rounded-box inline-block h-auto max-w-full" src="${pictures.at(id)}" alt="${alt}" width="${size.width}" height="${size.height}">`
}

/** A text that is read as it is typed, but for its pictures. */
export function withPictures(text: string, pictures: Pictures): Html {
  const parts: Html[] = []
  let at = 0
  for (const { index, 0: whole, 1: alt = '', 2: id = '' } of text.matchAll(PICTURE)) {
    parts.push(html`${text.slice(at, index)}`, picture(pictures, `asset:${id}`, alt))
    at = index + whole.length
  }
  return html`${parts}${text.slice(at)}`
}
