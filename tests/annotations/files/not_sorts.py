"""Files that hold neither sorts nor labels, as people's tools write them, with the reason for which they are refused.

Contents are invented; names of columns and layouts are those of the tools.
"""

from __future__ import annotations

COUNTED = "results over all people"
PEOPLE = "list of people"
THINGS = "looks like records"

NOT_SORTS: dict[str, tuple[str, str]] = {
    "spans of texts": (
        "text_id,annotator,start,end,label\nt1,Ann,0,5,PER\nt1,Bob,0,5,PER\nt2,Ann,3,9,ORG\nt2,Bob,4,9,LOC\nt3,Ann,1,2,PER\n",
        "labels a part of an item",
    ),
    "spans by characters": (
        "doc,worker,label,begin_char,end_char\nd1,w1,DRUG,10,17\nd2,w1,DOSE,3,9\nd3,w2,DRUG,40,48\nd1,w2,DRUG,10,17\n",
        "labels a part of an item",
    ),
    "boxes in pictures": (
        "image,annotator,x_min,y_min,x_max,y_max,label\ni1,Ann,3,4,30,44,cat\ni2,Ann,0,0,9,9,dog\ni3,Bob,1,5,6,9,cat\n",
        "labels a part of an item",
    ),
    "percentages of placements": (
        "Card,Orders,Gifts / Returns,Help\nTrack a parcel,80%,15%,5%\nGift card,10%,85%,5%\nOpening hours,0%,20%,80%\n",
        "table of percentages",
    ),
    "percentages with commas and spaces": (
        "Karte;Bestellung;Hilfe\nPaket verfolgen;80,5 %;19,5 %\nGutschein;33,3 %;66,7 %\nAbholung;50,0 %;50,0 %\n",
        "table of percentages",
    ),
    "popular placements with shares": (
        "Card,Category,Times placed,Share\nReturns,Orders,6,0.75\nGift cards,Shop,8,1.0\nHelp desk,Help,7,0.9\n",
        f"{COUNTED}|table of counts",
    ),
    "standardised categories": (
        "Standardized category,Card,Frequency,Agreement\nOrders,Returns,6,0.75\nOrders,Parcels,8,0.9\n",
        COUNTED,
    ),
    "categories with the number of their cards": (
        "Category,Cards,Participants,Agreement\nOrders,12,9,0.66\nShop,8,12,0.71\nHelp,5,7,0.52\n",
        COUNTED,
    ),
    "cards with their average position": (
        "Card,Average position,Top category,Frequency\nReturns,2.1,Orders,6\nParcels,1.4,Orders,8\nHours,3.3,Help,4\n",
        COUNTED,
    ),
    "votes for each class": ("item,votes,agreement\na,12,0.8\nb,9,0.6\nc,14,0.9\n", COUNTED),
    "counts of cards in categories": (
        "Card,Orders,Shop,Help\nReturns,6,0,2\nParcels,8,0,0\nGift cards,0,7,1\nHours,0,1,7\nStores,1,0,7\nApp,3,0,5\n",
        "table of counts",
    ),
    "tree test, a row for each participant": (
        "Participant,Status,Task 1: Result,Task 1: Path,Task 1: Time,Task 2: Result,Task 2: Path,Task 2: Time\n"
        "P1,Completed,Direct success,Home/Shop,12,Failure,Home/Help,31\n"
        "P2,Completed,Indirect success,Home/Help/Shop,40,Success,Home/Shop,9\n"
        "P3,Abandoned,Skip,,3,Failure,Home,22\n",
        "several results for each task",
    ),
    "tree test with underscores": (
        "respondent,task1_success,task1_time,task2_success,task2_time\nr1,1,12,0,33\nr2,1,9,1,21\nr3,0,40,1,18\n",
        "several results for each task",
    ),
    "paths of a tree test": (
        "Participant,Find returns,Find hours\nP1,Home > Orders > Returns,Home > Help\n"
        "P2,Home > Help > Returns,Home > Stores > Hours\nP3,Home > Orders,Home > Help > Hours\n",
        "table of paths",
    ),
    "first-click test": (
        "Participant ID,Task 1 X,Task 1 Y,Task 1 Time,Task 2 X,Task 2 Y,Task 2 Time\n"
        "a,120,300,2.3,40,88,4.0\nb,118,310,3.1,44,90,2.2\nc,600,20,9.5,41,85,3.0\n",
        "coordinates|several results for each task",
    ),
    "questionnaire": (
        "Participant,Age group,How often do you shop?,Where do you shop?\n"
        "P1,18-25,Weekly,Online\nP2,26-35,Monthly,Town\nP3,18-25,Daily,Online\n",
        "questionnaire",
    ),
    "questionnaire of yes and no": (
        "Respondent ID,Do you own a car?,Have you used our app?,Would you recommend us?\n1,yes,no,yes\n2,no,no,yes\n"
        "3,yes,yes,yes\n4,no,yes,no\n",
        "questionnaire",
    ),
    "System Usability Scale": (
        "Participant,SUS1,SUS2,SUS3,SUS4,SUS5\nP1,4,2,5,1,4\nP2,5,1,4,2,5\nP3,3,3,3,2,4\n",
        "questionnaire",
    ),
    "ratings of a task": (
        "participant,Task 1 rating,Task 1 comment,Task 2 rating,Task 2 comment\nP1,4,fine,5,ok\nP2,3,hm,2,slow\n"
        "P3,5,good,5,good\n",
        "several results for each task",
    ),
    "list of participants": (
        "Participant,Age,Gender,Country\nP1,31,f,UK\nP2,45,m,France\nP3,28,f,Spain\n",
        PEOPLE,
    ),
    "participants of a panel": (
        "Name,Role,Team,City\nAnna,Designer,Web,Leeds\nBen,Developer,App,York\nCleo,Manager,Sales,Hull\n"
        "Dan,Designer,Web,Leeds\n",
        PEOPLE,
    ),
    "demographics in another language": (
        "Teilnehmer;Alter;Geschlecht;Beruf\nA;31;w;Koch\nB;45;m;Lehrer\nC;28;w;Koch\n",
        PEOPLE,
    ),
    "recruits with their consent": (
        "Participant ID,Email,Consent,Incentive\n1,a@x.org,yes,20\n2,b@x.org,yes,20\n3,c@x.org,yes,20\n",
        f"{PEOPLE}|No column contains",
    ),
    "napping": (
        "product,J1_X,J1_Y,J2_X,J2_Y\nale,3,17,22,5\nstout,40,2,31,9\nporter,38,6,30,12\nlager,5,19,4,33\n",
        "table of coordinates",
    ),
    "napping with decimals": (
        "produit;X1;Y1;X2;Y2\nale;3,5;17,0;22,1;5,5\nstout;40,0;2,5;31,0;9,9\nporter;38,5;6,0;30,5;12,0\n",
        "table of coordinates",
    ),
    "configuration of products": (
        "product,Dim1,Dim2\nale,0.35,-1.2\nstout,-0.8,0.4\nporter,-0.6,0.1\nlager,1.1,0.7\n",
        "decimals",
    ),
    "rankings": (
        "product,J1,J2,J3,J4,J5\nale,1,2,1,3,1\nstout,2,1,3,1,2\nporter,3,4,2,4,4\nlager,4,3,4,2,3\npils,5,5,5,5,5\n",
        "table of rankings",
    ),
    "rankings by people in rows": (
        "participant,price,taste,colour,smell,name\nP1,1,2,3,4,5\nP2,2,1,4,3,5\nP3,1,3,2,5,4\nP4,5,4,3,2,1\n",
        "table of rankings|list of people",
    ),
    "ratings with halves": (
        "product,J1,J2,J3\nale,3.5,4,2\nstout,2,2.5,1\nporter,3,4.5,2\nlager,5,4,4\n",
        "decimals",
    ),
    "mean ratings": (
        "product;sweet;bitter;sour\nale;3,51;4,22;1,90\nstout;2,11;6,40;2,04\nporter;2,55;5,83;2,31\n",
        "decimal commas|decimals|no groups or labels|No column contains",
    ),
    "measurements": (
        "sample,length,width,height\na,5.1,3.5,1.4\nb,4.9,3.0,1.4\nc,6.2,2.9,4.3\n",
        "decimals|looks like records",
    ),
    "similarity matrix": (
        ",Returns,Parcels,Hours\nReturns,100,75,12\nParcels,75,100,5\nHours,12,5,100\n",
        "table of similarities",
    ),
    "similarity matrix in percent": (
        "Card,Returns,Parcels,Hours\nReturns,100%,75%,12%\nParcels,75%,100%,5%\nHours,12%,5%,100%\n",
        "table of similarities|table of percentages",
    ),
    "lower triangle of a similarity matrix": (
        "Card,Returns,Parcels,Hours,Stores\nReturns,,,,\nParcels,75,,,\nHours,12,5,,\nStores,8,3,80,\n",
        "table of similarities",
    ),
    "similarities without names of rows": (
        "s1,s2,s3,s4\n20,14,3,2\n14,20,1,4\n3,1,20,17\n2,4,17,20\n",
        "table of similarities",
    ),
    "list of edges": ("item_a,item_b,count\na,b,12\na,c,3\nb,c,5\n", "no column has a usual name|counts|results over"),
    "steps of a dendrogram": (
        "step,cluster1,cluster2,height\n1,4,7,0.12\n2,1,2,0.31\n3,5,8,0.47\n4,3,9,0.80\n",
        "decimals|looks like records|No column contains|A long table",
    ),
    "marks in the columns of categories": (
        "Card,Orders,Shop,Help\nReturns,x,,\nParcels,x,,\nGift cards,,x,\nHours,,,x\nStores,,,x\n",
        "marks one of its columns",
    ),
    "ones in the columns of categories": (
        "card,orders,shop,help\nreturns,1,0,0\nparcels,1,0,0\ngift cards,0,1,0\nhours,0,0,1\nstores,0,0,1\n",
        "marks one of its columns|table of counts",
    ),
    "log of drags": (
        "participant,timestamp,action,card,target\nP1,10:01,drag,Returns,Orders\nP1,10:02,drag,Returns,Help\n"
        "P1,10:03,drag,Hours,Help\n",
        "log of events",
    ),
    "clicks of a session": (
        "Participant,Time,Event,Element\nP1,1.2,click,menu\nP1,2.5,click,link\nP2,0.9,scroll,page\n",
        "log of events",
    ),
    "backlog of tasks": (
        "Key,Summary,Status,Assignee,Priority,Created\nA-1,Fix login,Done,ann,High,2026-01-02\n"
        "A-2,New icon,Open,ben,Low,2026-01-03\nA-3,Slow page,Open,ann,High,2026-01-05\n",
        THINGS,
    ),
    "catalogue of products": (
        "product,brand,price,stock,url\nale,Acme,3,12,https://x.org/1\nstout,Bock,4,30,https://x.org/2\n"
        "porter,Acme,5,9,https://x.org/3\n",
        f"{THINGS}|contains words, or numbers",
    ),
    "list of cards": (
        "id,card,description\n1,Returns,How to send something back to us\n2,Parcels,Where your parcel is just now\n"
        "3,Hours,When our shops are open to customers\n",
        f"{THINGS}|No column contains|no column has a usual name|in two ways",
    ),
    "preferences between two products": (
        "left,right,worker,winner\na,b,u,a\na,c,u,c\nb,c,v,b\n",
        "which of two items was preferred",
    ),
    "battles of two models": (
        "model_a,model_b,judge,winner\ng,h,u,model_a\ng,i,u,tie\nh,i,v,model_b\n",
        "which of two items was preferred",
    ),
    "ranked choices": (
        "Voter,1st choice,2nd choice,3rd choice\na,Orders,Help,Shop\nb,Help,Shop,Orders\nc,Orders,Shop,Help\n",
        "table of ranked choices",
    ),
    "known classes": ("image,label\na.jpg,cat\nb.jpg,dog\nc.jpg,cat\n", "one label, in 'label', but no annotator"),
    "boxes": (
        "image,annotator,label\n"
        'a.jpg,u,"{""x"": 3, ""y"": 4, ""width"": 8, ""height"": 2}"\n'
        'b.jpg,u,"{""x"": 5, ""y"": 1, ""width"": 6, ""height"": 7}"\n',
        "box|JSON",
    ),
    "lists of tags": (
        'image,annotator,label\na,u,"cat,dog"\na,v,cat\nb,u,dog\nb,v,"cat,dog"\nc,u,dog\n',
        "list of several labels",
    ),
    "lists of tags as Python writes them": (
        "image,annotator,label\na,u,\"['cat', 'dog']\"\na,v,['cat']\nb,u,['dog']\nb,v,['cat']\nc,u,['dog']\n",
        "list of several labels",
    ),
    "ratings in a long table": (
        "product,assessor,rating\nale,a,6.5\nstout,a,3.2\nale,b,7.1\nstout,b,4.0\n",
        "number with decimals",
    ),
    "counts of words": (
        "product,sweet,fresh,heavy,green\nbasil,0,4,0,7\nmint,1,9,0,6\nclove,8,0,5,0\nanise,7,1,0,0\n"
        "thyme,0,2,6,3\nrose,9,0,0,0\n",
        "table of counts",
    ),
}
