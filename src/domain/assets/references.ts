import { MAX_ALT_LENGTH } from '../limits.ts'
import { UUID_PATTERN } from '../text/uuid.ts'

// Questions refer to pictures in their texts by `![description](asset:id)`, and to a sound or video by its address in API v1.

const ID = UUID_PATTERN.replace(/^\^|\$$/g, '')
/** A picture in a text: its alternative text, empty where it is decoration, and its id. */
export const PICTURE = new RegExp(`!\\[([^\\[\\]\\\\]{0,${MAX_ALT_LENGTH}})\\]\\(asset:(${ID})\\)`, 'gi')
const NAMED = new RegExp(`asset:(${ID})`, 'gi')

/** Markdown of a picture. The alternative text is one line without characters that would end it. */
export const printPicture = (id: string, alt: string): string =>
  `![${alt
    .replace(/[[\]\\]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_ALT_LENGTH)}](asset:${id})`

/** Replaces pictures by their alternative text. */
export const withoutPictures = (text: string): string => text.replace(PICTURE, (_, alt: string) => (alt ? `[${alt}]` : ''))

const MEDIA = '/api/v1/question-media/'
/** Permanent address of an asset, relative to the service's. Reading it there requires an API key. */
export const assetAddress = (id: string): string => `${MEDIA}${id}`

const ADDRESS = new RegExp(`^(?:https?://[^/?#]+)?${MEDIA}(${ID})$`, 'i')
/** Asset id in an address of any host; null if it is no asset's address. */
export const assetIdIn = (address: string): string | null => ADDRESS.exec(address)?.[1]?.toLowerCase() ?? null

/** Ids of the assets that the texts name, without duplicates. The assets may not exist. */
export const assetIdsIn = (...texts: string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(NAMED)].map(([, id]) => id!.toLowerCase()))),
]
