// Our own keywords of schemas. What reads a schema knows those it needs and ignores the rest; the documents show none of them, nor any
// other that begins with `x-`.

/** The name under which documents show a schema once, among their components. */
export const NAME = 'x-name'
/** A schema of what the field may hold instead of this id. Only documents know it; serializers take the id. */
export const OBJECT_INSTEAD = 'x-object'
/** A schema that documents show in the place of this one, which is what serializers take: it says more than they need. */
export const SHOWN_AS = 'x-shown-as'
/** Names of the response headers that come with a body of this schema. */
export const HEADERS = 'x-headers'
/** A pattern that is checked and not shown. */
export const HIDDEN_PATTERN = 'x-pattern'
/** White space is cut off both ends of a string before its length is judged. */
export const TRIM = 'x-trim'
/** Media types of a body that is not JSON: documents show these instead of the schema, which says no more than that it is a text. */
export const MEDIA_TYPES = 'x-media-types'
