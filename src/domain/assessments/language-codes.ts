/**
 * Languages to choose from, by BCP 47: living languages with two-letter codes, other widely written ones, and variants that differ by
 * country or script. Imports accept any other code.
 */
export const LANGUAGE_CODES: readonly string[] = `
  aa ab af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy
  ga gd gl gn gu gv ha he hi ho hr ht hu hy hz id ig ii ik is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt
  lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl
  sm sn so sq sr ss st su sv sw ta te tg th ti tk tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
  ast bho ceb chr ckb doi dsb fil haw hil hmn hsb ilo kab kok mai mni nds nso sat smj syr tet tok yue
  ar-EG ar-MA ar-SA de-AT de-CH en-AU en-CA en-GB en-IE en-IN en-NZ en-US en-ZA es-419 es-AR es-CO es-ES es-MX fr-BE fr-CA fr-CH fr-FR
  it-CH nl-BE nl-NL pt-BR pt-PT sr-Cyrl sr-Latn uz-Cyrl uz-Latn zh-Hans zh-Hant zh-HK zh-TW
`
  .trim()
  .split(/\s+/)

const choosableCodes = new Set(LANGUAGE_CODES)

/** True for a known code. @param keptCodes codes that may stay. */
export const isLanguageCode = (code: string, keptCodes: readonly string[]): boolean =>
  choosableCodes.has(code) || keptCodes.includes(code)
