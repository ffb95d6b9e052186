import { withoutPictures } from '../domain/assets/references.ts'

/** Text of an option in which pictures are replaced by their alternative texts. */
export const formatOption = (text: string): string => withoutPictures(text).trim() || text
