import { fileURLToPath } from 'node:url'

/** Noto fonts (SIL Open Font License) for the scripts that names are written in. Without them a name would show as boxes. */
const files: [packageEntry: string, ...files: string[]][] = [
  [import.meta.resolve('@embedpdf/fonts-latin'), 'NotoSans-Regular.ttf', 'NotoSans-Bold.ttf'],
  [import.meta.resolve('@embedpdf/fonts-arabic'), 'NotoNaskhArabic-Regular.ttf', 'NotoNaskhArabic-Bold.ttf'],
  [import.meta.resolve('@embedpdf/fonts-hebrew'), 'NotoSansHebrew-Regular.ttf', 'NotoSansHebrew-Bold.ttf'],
  // Simplified and traditional Chinese, and Japanese: 30,000 characters. One weight only, because they are large.
  [import.meta.resolve('@embedpdf/fonts-sc'), 'NotoSansHans-Regular.otf'],
  [import.meta.resolve('@embedpdf/fonts-kr'), 'NotoSansKR-Regular.otf'],
]

/** Font paths. The Latin fonts include Greek, Cyrillic, and Devanagari. */
export const FONTS: string[] = files.flatMap(([entry, ...names]) =>
  names.map((name) => fileURLToPath(new URL(`../fonts/${name}`, entry))),
)
