import { fileURLToPath } from 'node:url'

/** Noto (SIL Open Font License), of each script what the template uses: without them a name would be a row of boxes. */
const files: [packageEntry: string, ...files: string[]][] = [
  [import.meta.resolve('@embedpdf/fonts-latin'), 'NotoSans-Regular.ttf', 'NotoSans-Bold.ttf'],
  [import.meta.resolve('@embedpdf/fonts-arabic'), 'NotoNaskhArabic-Regular.ttf', 'NotoNaskhArabic-Bold.ttf'],
  [import.meta.resolve('@embedpdf/fonts-hebrew'), 'NotoSansHebrew-Regular.ttf', 'NotoSansHebrew-Bold.ttf'],
  // Simplified and traditional Chinese, and Japanese: 30,000 characters. Large, so of one weight.
  [import.meta.resolve('@embedpdf/fonts-sc'), 'NotoSansHans-Regular.otf'],
  [import.meta.resolve('@embedpdf/fonts-kr'), 'NotoSansKR-Regular.otf'],
]

/** Their paths. Latin, Greek, Cyrillic and Devanagari are the first's. */
export const FONTS: string[] = files.flatMap(([entry, ...names]) =>
  names.map((name) => fileURLToPath(new URL(`../fonts/${name}`, entry))),
)
