/** What the page says is wrong. */
export const mistakesIn = ({ text }: { text: string }) =>
  [...text.matchAll(/<li>(?:<a [^>]+>)?([^<]+)/g)].map(([, words]) => words)

/** What a form of a page would send as it stands. */
export function fieldsIn({ text }: { text: string }): Record<string, string> {
  const readEntities = (value: string) =>
    value.replace(
      /&(lt|gt|quot|#39|amp);/g,
      (_all, name: string) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name]!,
    )
  const form = text.slice(text.indexOf('<main')).split('</form>')[0]!
  const inputs = [...form.matchAll(/<input [^>]*?name="(\w+)"[^>]*?value="([^"]*)"/g)]
  const areas = [...form.matchAll(/<textarea [^>]*?name="(\w+)"[^>]*>\n([^<]*)</g)]
  const choices = [...form.matchAll(/<select [^>]*?name="(\w+)".*?value="([^"]*)" selected/gs)]
  return Object.fromEntries([...inputs, ...areas, ...choices].map(([, name, value]) => [name!, readEntities(value!)]))
}
