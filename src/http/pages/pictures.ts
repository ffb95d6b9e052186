import { assetIdsIn, PICTURE } from '../../domain/assets/references.ts'
import { type Html, html } from '../../html/html.ts'

/** Pixels; 0 if unknown. */
type Size = { width: number; height: number }

/**
 * Pictures that a page can show.
 *
 * @property urlOf address by id. @property sizeOf undefined for an unknown picture. @property formatMissing formats the alternative text that replaces an
 *   unknown picture.
 */
export type Pictures = {
  urlOf: (id: string) => string
  sizeOf: (id: string) => Size | undefined
  formatMissing?: (alt: string) => string
}

export const noPictures: Pictures = { urlOf: () => '', sizeOf: () => undefined }

/** For documents outside of the service: each picture is replaced by its alternative text in brackets. */
export const picturesAsText = { ...noPictures, formatMissing: (alt: string) => (alt === '' ? '' : `[${alt}]`) } satisfies Pictures

/** All pictures below an address. The browser shows the alternative text of missing ones. */
export const picturesBelow = (address: string): Pictures => ({
  urlOf: (id) => `${address}/${id}`,
  sizeOf: () => ({ width: 0, height: 0 }),
})

/** Pictures of known sizes, which avoid layout shifts while they load. */
export const picturesOf = (address: string, sizes: ReadonlyMap<string, Size>): Pictures => ({
  urlOf: (id) => `${address}/${id}`,
  sizeOf: (id) => sizes.get(id),
})

/** An <img>, or the alternative text of an unknown picture. @param source `asset:` and an id. */
export function renderPicture(pictures: Pictures, source: string, alt: string): Html {
  const [id] = assetIdsIn(source)
  const size = id === undefined ? undefined : pictures.sizeOf(id)
  if (id === undefined || !size) return html`${pictures.formatMissing?.(alt) ?? alt}`
  if (size.width === 0) return html`<img class="rounded-box inline-block max-w-full" src="${pictures.urlOf(id)}" alt="${alt}">`
  return html`<img class="rounded-box inline-block h-auto max-w-full" src="${pictures.urlOf(id)}" alt="${alt}" width="${size.width}" height="${size.height}">`
}

/** Plain text with its pictures. */
export function renderWithPictures(text: string, pictures: Pictures): Html {
  const parts: Html[] = []
  let position = 0
  for (const { index, 0: whole, 1: alt = '', 2: id = '' } of text.matchAll(PICTURE)) {
    parts.push(html`${text.slice(position, index)}`, renderPicture(pictures, `asset:${id}`, alt))
    position = index + whole.length
  }
  return html`${parts}${text.slice(position)}`
}
