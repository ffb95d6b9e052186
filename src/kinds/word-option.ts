import { withoutPictures } from '../domain/assets/references.ts'

/** What can be chosen, in words: of a picture what is to be seen. */
export const wordOption = (text: string): string => withoutPictures(text).trim() || text
