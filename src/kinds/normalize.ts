/**
 * A text as it is compared: one way to write a letter, straight quotes and dashes, no white space around it, and one space where there
 * was white space. The same goes for what was written as the key, and for what was answered.
 */
export const normalize = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201A\u201B\u2032\u00B4\u0060]/g, "'")
    .replace(/[\u201C\u201D\u201E\u201F\u2033\u00AB\u00BB]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
