// In the place of this file, a package that opens other archives has the drawings of their models' answers.

/** { drawing, output, input }, null for an answer that has no drawing. */
export const asOurs = () => null;
