// What the documentation's pages do beyond being read. Without it they can be read all the same.

import "../look/tokens.css";
import "./docs.css";
import { addCopyButtons } from "./copy-buttons.ts";
import { markWhereOneIs } from "./here-mark.ts";
import { offerSearch } from "./search-window.ts";

addCopyButtons();
markWhereOneIs();
offerSearch();
