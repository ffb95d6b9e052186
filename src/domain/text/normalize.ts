/**
 * Normalizes keys and answers for comparison: Unicode NFKC, straight quotes, plain dashes, and single spaces.
 */
export const normalize = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201A\u201B\u2032\u00B4\u0060]/g, "'")
    .replace(/[\u201C\u201D\u201E\u201F\u2033\u00AB\u00BB]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
