/** Number of words. Languages without spaces use Intl.Segmenter, which is slower. */
export function countWords(text: string): number {
  if (!WITHOUT_SPACES.test(text)) return text.match(/\S+/g)?.length ?? 0
  return [...words.segment(text)].filter(({ isWordLike }) => isWordLike).length
}

const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const words = new Intl.Segmenter('en', { granularity: 'word' })
