/** Returns the page's error messages. */
export const mistakesIn = ({ text }: { text: string }) =>
  [...text.matchAll(/<li>(?:<a [^>]+>)?([^<]+)/g)].map(([, words]) => words)

/** Returns the fields that the page's first form would submit if left unchanged. */
export function fieldsIn({ text }: { text: string }): Record<string, string> {
  const readEntities = (value: string) =>
    value.replace(
      /&(lt|gt|quot|#39|amp);/g,
      (_all, name: string) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name]!,
    )
  const shown = text.slice(text.indexOf('<main')).split('</form>')[0]!
  const form = shown.replace(/<input type="(?:checkbox|radio)"[^>]*(?<! checked)>/g, '')
  const inputs = [...form.matchAll(/<input [^>]*?name="([\w-]+)"[^>]*?value="([^"]*)"/g)]
  const areas = [...form.matchAll(/<textarea [^>]*?name="(\w+)"[^>]*>\n([^<]*)</g)]
  const choices = [...form.matchAll(/<select [^>]*?name="([\w-]+)"[^>]*>(.*?)<\/select>/gs)].flatMap(([all, name, options]) => {
    const selected = [...options!.matchAll(/value="([^"]*)" selected/g)].map(([, value]) => value!)
    // Joins several values with line breaks, which the service's form parser accepts.
    return selected.length > 0 ? [[all, name!, selected.join('\n')] as const] : []
  })
  const boxes = Map.groupBy(
    form.matchAll(/<input type="checkbox"[^>]*?name="([\w-]+)"[^>]*?value="([^"]*)"/g),
    ([, name]) => name!,
  )
  const checked = [...boxes].map(([name, ofName]) => ['', name, ofName.map(([, , value]) => value).join('\n')] as const)
  return Object.fromEntries([...inputs, ...checked, ...areas, ...choices].map(([, name, value]) => [name!, readEntities(value!)]))
}

/** Returns the rows of a page's tables as text, with bars between cells. */
export const rowsOf = (text: string): string[] =>
  [...text.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs)].map(([, row]) =>
    row!.replace(/<\/t[hd]><td[^>]*>/g, ' | ').replace(/<[^>]+>/g, ''),
  )

/** Returns the events of a page's timelines as text, each with its details. The actor is the last detail. */
export const eventsIn = (text: string): { what: string; aside: string[] }[] => {
  const textOf = (markup: string) => markup.replace(/<[^>]+>/g, '')
  return [...text.matchAll(/<li class="event">.*?<p [^>]*>(.*?)<\/p><p [^>]*>(.*?)<\/p>/gs)].map(([, what, aside]) => ({
    what: textOf(what!),
    aside: textOf(aside!).split(' · '),
  }))
}

/** Returns the page's definition lists as text, by term. */
export const factsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, term, fact]) => [term!, fact!.replace(/<[^>]+>/g, '')]),
  )
